from rest_framework import permissions, viewsets
from rest_framework.generics import CreateAPIView, ListAPIView

from shop.models import Wallet
from shop.permissions import IsOwner


class WalletViewSet(viewsets.ModelViewSet):
    permission_classes = [permissions.IsAuthenticated]

    def get_queryset(self):
        return Wallet.objects.filter(owner=self.request.user)


class OwnViewSet(viewsets.ModelViewSet):
    permission_classes = [permissions.AllowAny, IsOwner]


class SignUpView(CreateAPIView):
    permission_classes = [permissions.AllowAny]


class NewsView(ListAPIView):
    permission_classes = [permissions.AllowAny]
