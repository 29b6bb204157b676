import logging

from fastapi import APIRouter, Depends
from fastapi.security import OAuth2PasswordRequestForm

router = APIRouter()
logger = logging.getLogger(__name__)


@router.post("/token")
async def login(form: OAuth2PasswordRequestForm = Depends()):
    logger.warning("failed: %s %s", form.username, form.password)  # HIT[high]
