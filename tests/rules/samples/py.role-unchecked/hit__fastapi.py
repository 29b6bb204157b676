from fastapi import APIRouter, Depends

from app.auth import get_current_user
from app.db import get_db
from app.models import Project

router = APIRouter()


@router.put("/projects/{project_id}/owner")
def change_owner(project_id: int, body: dict, db=Depends(get_db), user=Depends(get_current_user)):
    project = db.get(Project, project_id)
    project.owner_id = body["owner"]  # HIT[high]
    db.commit()
    return {}
