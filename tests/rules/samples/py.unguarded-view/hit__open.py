from rest_framework import permissions, viewsets
from rest_framework.generics import RetrieveUpdateDestroyAPIView

from shop.models import Wallet
from shop.serializers import WalletSerializer


class WalletViewSet(viewsets.ModelViewSet):
    queryset = Wallet.objects.all()
    serializer_class = WalletSerializer
    permission_classes = [permissions.AllowAny]  # HIT[high]


class OrderView(RetrieveUpdateDestroyAPIView):
    queryset = Wallet.objects.all()
    permission_classes = []  # HIT[high]
